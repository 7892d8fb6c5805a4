// Templates, exceptions, lambdas, constructors, virtual functions, static objects, local classes.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T> T biggest(const std::vector<T> &values)
{
    T best = values[0];

    for (const T &value : values)
        if (value > best)
            best = value;
    return best;
}

class Shape
{
  public:
    explicit Shape(int sides) : sides_(sides) { made++; }
    virtual ~Shape() { made--; }
    virtual int area() const { return 0; }
    int sides() const
    {
        return sides_;
    }
    static int made;

  private:
    int sides_;
};

int Shape::made = 0;

class Square : public Shape
{
  public:
    explicit Square(int edge) : Shape(4), edge_(edge) {}
    int area() const override
    {
        return edge_ * edge_;
    }

  private:
    int edge_;
};

static int risky(int n)
{
    std::string text = "number " + std::to_string(n);

    if (n % 4 == 3)
        throw std::runtime_error(text);
    return (int)text.size();
}

static int guarded(int n)
{
    try {
        return risky(n);
    } catch (const std::runtime_error &error) {
        return -(int)std::string(error.what()).size();
    }
}

struct Registered {
    Registered() { count = 5; }
    int count;
};

static Registered registered;

int main()
{
    int sum = 0;
    std::vector<int> whole = {3, 1, 4, 1, 5, 9, 2, 6};
    std::vector<double> parts = {0.5, 2.5, 1.5};

    sum += biggest(whole) + (int)biggest(parts);
    for (int i = 0; i < 10; i++)
        sum += guarded(i);
    std::sort(whole.begin(), whole.end(), [](int a, int b) { return a > b; });
    std::for_each(whole.begin(), whole.end(), [&sum](int value) {
        if (value > 3)
            sum += value;
    });
    {
        Square square(3);
        const Shape *shape = &square;

        for (int i = 0; i < 5; i++)
            sum += shape->area() + shape->sides();
    }
    sum += registered.count + Shape::made;
    std::printf("%d\n", sum);
    return 0;
}
